// Package costs measures the costs of the controllers of Kubernetes and of ours, for the same jobs,
// on the same server, in the same run: requests, processor time, memory, and jobs per second.
//
// Requests are counted twice. In virtual time, on the server in memory, nothing is left to chance:
// a test fails if our controllers need more requests of any kind. On a real API server with its
// etcd, the same scripts run in real time. There a table shows the requests, and proves nothing.
//
// For the other figures each side runs in a process of its own, started from the same binary, and
// the server and the kubelet run in the process of the test. So the operating system counts the
// processor time of the side alone, user and system, garbage collection included, and the heap
// holds only the side's objects. A profile with labels would miss the collector, and could not tell
// whose objects are in the heap. Each side has a namespace and caches only that. The sides take
// turns, phase by phase.
package costs
