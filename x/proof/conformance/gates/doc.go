// Package gates compares our controllers with those of Kubernetes while feature gates have other
// values. Gates are set for the whole process, so these tests have one of their own.
package gates
