package jobadmit

import "testing"

func TestSchedulingDirectives(t *testing.T) {
	for path, want := range map[string]bool{
		"template.spec.tolerations":         true,
		"template.spec.tolerations[0].key":  true,
		"template.spec.nodeSelector.zone":   true,
		"template.spec.tolerationsOfOthers": false,
		"template.spec":                     false,
	} {
		got := false
		for _, field := range schedulingDirectives {
			got = got || isIn(path, field)
		}
		if got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
