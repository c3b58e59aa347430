package main

import (
	"database/sql"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

func TestTitle(t *testing.T) {
	mock.SkipUnlessHooked(t)
	useDoubles(t)
	db, err := sql.Open("memory", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := &shelf{db}
	if title, err := s.title("7"); title != "Siddhartha" || err != nil {
		t.Error(title, err)
	}
	if title, err := s.title("8"); err == nil {
		t.Error(title)
	}
}
