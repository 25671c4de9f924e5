// Package gates compares with the controllers of Kubernetes while feature gates have other
// values. They belong to the whole process, so these tests have one of their own.
package gates
