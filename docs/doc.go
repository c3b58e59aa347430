// Package docs holds the project's pages, and the test that runs the commands in them.
package docs
