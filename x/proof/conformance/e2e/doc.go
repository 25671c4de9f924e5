// Package e2e runs the controllers of x/kubernetes on a real API server, with a kubelet that moves
// their pods. One server serves all tests, each in a namespace of its own.
package e2e
