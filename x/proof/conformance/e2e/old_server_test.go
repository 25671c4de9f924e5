//go:build before137

package e2e

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
)

// TestOldServer: on a server without spec.managedBy, a replica with a name of its own refuses to
// start and explains why. With the name of the built-in controller it runs, and its jobs end
// without the condition that the server would refuse.
func TestOldServer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a real API server")
	}
	logErrors()
	c := newCluster(t, "--emulated-version=kube=1.33", "--feature-gates=JobManagedBy=false,JobPodReplacementPolicy=false")
	p := c.newPlace(t)
	if err := replica.Run(t.Context(), p.Server.Config, p.config()); err == nil || !strings.Contains(err.Error(), "drops spec.managedBy") {
		t.Errorf("error %v", err)
	}
	config := p.config()
	config.ManagedBy = job.ControllerName
	p.start(config)
	for _, test := range []struct {
		name, exits string
		change      func(*batchv1.JobSpec)
		want        string
	}{
		{"plain", "10", nil, "Complete"},
		{"failed", "1", limit(0), "FailureTarget Failed"},
		{"policy", "0,r", with(indexed(2), func(s *batchv1.JobSpec) {
			s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: pointTo("0")}}}
		}), "SuccessCriteriaMet Complete"},
	} {
		j := jobOf(test.name, test.exits, test.change)
		j.Spec.ManagedBy = nil
		p.create(j)
		var got []string
		for _, condition := range p.awaitEnd(test.name).Status.Conditions {
			got = append(got, string(condition.Type))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: conditions %q, want %q", test.name, got, test.want)
		}
	}
}
