// Package gates compares our controllers with Kubernetes' controllers while feature gates have
// other values. Gates are set for the whole process, so these tests have a process of their own.
package gates
