"""One self-contained HTML file that shows a result; it formats, and never computes."""
