package sim

import "time"

// bucket is a rate limit.
type bucket struct {
	full int64 // when the bucket will be full again
}

// take takes a token and returns when it may be used.
func (b *bucket) take(now int64, qps float64, burst int) int64 {
	each := int64(float64(time.Second) / qps)
	b.full = max(b.full, now) + each
	return max(now, b.full-int64(burst)*each)
}
