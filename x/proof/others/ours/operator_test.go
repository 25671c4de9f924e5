package blackbox

import (
	"testing"

	"github.com/batchplan/batchplan/x/blackbox"
)

const exampleJob = `
apiVersion: batch/v1
kind: Job
spec:
  completions: 2
  parallelism: 2
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: "true"}]}}
`

// operator is the Job controller again, for a kit that knows nothing about it.
var operator = blackbox.Operator{
	Program: blackbox.Program{Parent: blackbox.JobKind, Start: batch.Start},
	Parents: []any{exampleJob},
}

// TestOperator plays lives of the Job controller with and without faults: both must end with the
// same objects.
func TestOperator(t *testing.T) { operator.Test(t, search) }
