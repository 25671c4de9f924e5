//go:build !before136

package theirs

import (
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
)

// setStale switches the gate that keeps the controller from acting on caches older than its own
// writes. Once a gate was set, it no longer follows the emulation of an older release.
func setStale(stale bool) {
	if gate := features.StaleControllerConsistencyJob; utilfeature.DefaultFeatureGate.Enabled(gate) == stale {
		must(utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(gate): !stale}))
	}
}
