//go:build before135

package server

import podstorage "k8s.io/kubernetes/pkg/registry/core/pod/storage"

func newPods(o options) (podstorage.PodStorage, error) {
	return podstorage.NewStorage(o, nil, nil, nil)
}
