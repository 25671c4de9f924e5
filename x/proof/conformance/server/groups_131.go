//go:build before137

package server

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (s *Server) addGroups() {}

// Groups returns nothing: there are no groups before 1.37.
func (s *Server) Groups() []metav1.Object { return nil }

func (s *Server) collectGroups() int { return 0 }

// SpecOf and GroupOf return nil.
func SpecOf(metav1.Object) any { return nil }
func GroupOf(*corev1.Pod) any  { return nil }

func (s *Server) Ungroup(string) error { return nil }
