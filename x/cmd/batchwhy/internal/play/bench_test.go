package play

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// BenchmarkStep takes a step among many pods and shows the view, as the page does after a click.
func BenchmarkStep(b *testing.B) {
	for _, pods := range []int{10, 1000} {
		b.Run(fmt.Sprint(pods), func(b *testing.B) {
			s := Script{Manifest: fmt.Sprintf(`{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
				"spec": {"completions": 5000, "parallelism": %d, "template": {"spec": {"restartPolicy": "Never"}}}}`, pods)}
			s.Steps = []string{"run all"}
			var theatre Theatre
			n := 0
			for b.Loop() {
				if n++; n%100 == 1 { // keeps the life from growing without end
					s.Steps = s.Steps[:1]
					n = 1
				}
				s.Steps = append(s.Steps, fmt.Sprintf("succeed j-%d", n))
				p, err := theatre.Play(&s, len(s.Steps))
				must.OK(b, err)
				if _, err := json.Marshal(p.View(0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
