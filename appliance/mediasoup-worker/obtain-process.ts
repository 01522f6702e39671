import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

// Runs obtain.sh, which downloads or builds the WebRTC worker of the media service, as a
// background job of the supervisor. The script shares the process group of this process. The
// whole group is killed when the supervisor stops this process or dies. The next start continues
// an interrupted build.

const SCRIPT = resolve(import.meta.dirname, 'obtain.sh')

const script = spawn(SCRIPT, ['--background', ...process.argv.slice(2)], { stdio: 'ignore' })
// Compilers are in other process groups: Ninja creates one for each, and kills them when it ends.
const stopGroup = () => process.kill(-process.pid, 'SIGTERM')

// The IPC channel to the supervisor closes when the supervisor dies.
process.once('disconnect', stopGroup)
process.once('SIGTERM', stopGroup)
script.once('exit', () => process.exit())
