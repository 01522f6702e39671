import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

// Runs obtain.sh with the arguments of this process, in the session and process group that startProcess created for this process.
// The whole group ends with the supervisor. A build continues at the next start.

// The kernel shares the processor evenly between sessions (sched_autogroup), whatever the priorities within them: a
// build with a low priority alone would still slow down analysis. This lowers the priority of the session.
try {
  writeFileSync('/proc/self/autogroup', '19')
} catch {
  // The kernel does not group processes by session.
}

const script = resolve(import.meta.dirname, 'obtain.sh')
const child = spawn(script, process.argv.slice(2), { stdio: 'ignore' })
// Ninja runs compilers in process groups of their own, and ends them itself.
const stop = () => process.kill(-process.pid, 'SIGTERM')
process.once('disconnect', stop)
process.once('SIGTERM', stop)
child.once('exit', () => process.exit())
