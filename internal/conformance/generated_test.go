package conformance

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/conformance/ours"
	"github.com/batchplan/batchplan/internal/conformance/script"
)

func TestJobScripts(t *testing.T) { testScripts(t, script.Jobs()) }

func TestCronJobScripts(t *testing.T) { testScripts(t, script.CronJobs()) }

func testScripts(t *testing.T, scripts *rapid.Generator[*script.Script]) {
	played, steps, chance := 0, 0, 0
	rapid.Check(t, func(r *rapid.T) {
		s := scripts.Draw(r, "script")
		result := Play(t, s, ours.Kubernetes136())
		if result.Difference != "" {
			r.Fatalf("%s\n%s", s, result.Difference)
		}
		played++
		steps += result.Steps
		if result.Chance {
			chance++
		}
	})
	t.Logf("%d scripts, %d steps; %d scripts ended where the real controllers leave it to chance", played, steps, chance)
}
