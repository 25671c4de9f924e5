// Command batchrun runs Kubernetes Jobs and CronJobs as processes of this machine.
package main

import (
	"os"
	_ "time/tzdata" // zones do not depend on the machine

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/cli"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

func main() {
	pod.Main()
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
