"""What a robot is: links, joints, drives, couplings, loops; readers and writers; the catalog."""
