// Package costs measures the costs of the controllers of Kubernetes and of ours, for the same jobs,
// on the same server, in the same run: requests, processor time, memory, and jobs per second.
//
// Requests are counted twice. In virtual time, on the server in memory, nothing is left to chance:
// a test fails if ours needs more of any kind. On a real API server with its etcd, the same scripts
// run in real time. Then all requests are counted, and the table is for people.
//
// For the other figures each side runs in a process of its own, started from the same binary, and
// the server and the kubelet run in the process of the test. So the processor time is that of the
// side's process as the operating system counts it, user and system, garbage collection included,
// and its heap holds only its own objects. A profile with labels would miss the collector, and
// could not tell whose objects are in the heap. Each side has a namespace and caches only that. The
// sides take turns, phase by phase.
package costs
