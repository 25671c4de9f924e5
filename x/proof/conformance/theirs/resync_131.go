//go:build before135

package theirs

import (
	"time"
	_ "unsafe" // for go:linkname

	_ "k8s.io/client-go/tools/cache"
)

// never is the channel on which a cache waits if it must not be listed again. Kubernetes makes it
// outside of synctest's bubbles, and in a bubble, waiting for such a channel stops virtual time.
// Waiting for a nil channel lasts just as long, and does not stop virtual time.
//
//go:linkname never k8s.io/client-go/tools/cache.neverExitWatch
var never <-chan time.Time

func init() { never = nil }
