"""SWE-fficiency: patches are judged by the speed of a workload."""
