//go:build !unix

package store

import "errors"

// Lock fails, because no pod can run here.
func (s *Store) Lock() (unlock func(), err error) { return nil, errors.ErrUnsupported }

// InUse returns false, because no runner can run here.
func (s *Store) InUse() (bool, error) { return false, nil }
