//go:build !before134

package server

import (
	"context"

	"k8s.io/apiserver/pkg/storage"
)

// The sizes of objects are not used. SetKeysFunc is the name of EnableResourceSizeEstimation in
// 1.34.

func (m memory) Stats(context.Context) (storage.Stats, error)        { return storage.Stats{}, nil }
func (m memory) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }
func (m memory) SetKeysFunc(storage.KeysFunc)                        {}
