// Command tuval is the marketplace: the server and the tools around it. Run it
// without arguments for the list of its commands.
package main
