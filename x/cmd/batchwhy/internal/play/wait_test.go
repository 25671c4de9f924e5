package play

import "testing"

// TestWaited: after five seconds, half of a wait of ten seconds has passed. The next wait begins at
// 0.
func TestWaited(t *testing.T) {
	s := Script{Manifest: `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": {"spec": {"restartPolicy": "Never"}}}}`,
		Steps: []string{"run all", "fail all", "tick 5s", "next", "run all", "fail all"}}
	var theatre Theatre
	for n, want := range []float64{0, 0, 0, 0.5, 0, 0, 0} {
		life, err := theatre.Play(&s, n)
		if err != nil {
			t.Fatal(err)
		}
		if v := life.View(0); v.Waited != want {
			t.Errorf("step %d, %q: %v of the wait has passed, want %v", n, v.Wake, v.Waited, want)
		}
	}
}
