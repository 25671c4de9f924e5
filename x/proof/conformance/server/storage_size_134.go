//go:build !before134

package server

import (
	"context"

	"k8s.io/apiserver/pkg/storage"
)

// How large the objects are has no use here. SetKeysFunc is what 1.34 calls the estimation.

func (m memory) Stats(context.Context) (storage.Stats, error)        { return storage.Stats{}, nil }
func (m memory) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }
func (m memory) SetKeysFunc(storage.KeysFunc)                        {}
