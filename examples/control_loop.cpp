// Gravity compensation, then computed torque, in a loop of 1 kHz. The code of the robot comes from ytheta:
//
//   yt.export("ur10", to="c", path="arm", options=yt.COptions(name="arm", controllers=("computed-torque",)))
//
//   gcc -std=c99 -O3 -c arm/arm.c && g++ -std=c++17 -O3 -Iarm control_loop.cpp arm.o -o control_loop
//
// Here the exported forward dynamics stand in for the robot. On a robot, replace read_sensors and send_torques.
// "control_loop --realtime" waits for the clock, as a real loop does; without it, the loop runs as fast as it can.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

#include "arm.h"

namespace {

constexpr int n = ARM_JOINTS;
constexpr double period = 0.001;  // s
using Vector = std::array<double, n>;

struct Robot {
    Vector q{}, qd{};

    void read_sensors(Vector &position, Vector &velocity) const
    {
        position = q;
        velocity = qd;
    }

    // The motion during one period with constant torques: four steps of the semi-implicit Euler method.
    void send_torques(const Vector &tau)
    {
        constexpr int substeps = 4;
        Vector qdd;
        for (int k = 0; k < substeps; k++) {
            arm_forward_dynamics(q.data(), qd.data(), tau.data(), qdd.data());
            for (int i = 0; i < n; i++) {
                qd[i] += period / substeps * qdd[i];
                q[i] += period / substeps * qd[i];
            }
        }
    }
};

// A loop that calls step(t, q, qd, tau) every millisecond and returns the number of failed steps.
template <typename Step> int run_loop(Robot &robot, double seconds, bool realtime, Step step)
{
    int failures = 0;
    Vector q, qd, tau{};
    auto next = std::chrono::steady_clock::now();
    for (int k = 0; k < static_cast<int>(seconds / period); k++) {
        robot.read_sensors(q, qd);
        failures += step(k * period, q, qd, tau);
        robot.send_torques(tau);
        next += std::chrono::milliseconds(1);
        if (realtime) std::this_thread::sleep_until(next);
    }
    return failures;
}

}  // namespace

int main(int argc, char **argv)
{
    const bool realtime = argc > 1 && std::strcmp(argv[1], "--realtime") == 0;
    Robot robot;
    for (int i = 0; i < n; i++) robot.q[i] = 0.3 * (i + 1);
    const Vector start = robot.q;

    // Gravity compensation: the arm stays where it is, without position control.
    run_loop(robot, 0.5, realtime, [](double, const Vector &q, const Vector &, Vector &tau) {
        arm_gravity(q.data(), tau.data());
        return 0;
    });
    double drift = 0.0;
    for (int i = 0; i < n; i++) drift = std::max(drift, std::fabs(robot.q[i] - start[i]));
    std::printf("gravity compensation: drift %.1e rad in 0.5 s\n", drift);

    // Computed torque: the arm follows a sine.
    arm_computed_torque_state state;
    arm_computed_torque_init(&state);
    double error = 0.0;
    const int failures = run_loop(robot, 2.0, realtime, [&](double t, const Vector &q, const Vector &qd, Vector &tau) {
        constexpr double amplitude = 0.2, omega = 3.0;
        Vector qr, qrd, qrdd;
        for (int i = 0; i < n; i++) {
            qr[i] = start[i] + amplitude * (1.0 - std::cos(omega * t));
            qrd[i] = amplitude * omega * std::sin(omega * t);
            qrdd[i] = amplitude * omega * omega * std::cos(omega * t);
            error = std::max(error, std::fabs(q[i] - qr[i]));
        }
        return arm_computed_torque_step(&state, period, q.data(), qd.data(), qr.data(), qrd.data(), qrdd.data(),
                                        tau.data());
    });
    std::printf("computed torque: error at most %.1e rad in 2 s\n", error);
    return failures == 0 && drift < 1e-3 && error < 1e-2 ? 0 : 1;
}
