import { launch } from './launch.ts'

/** A parent for tests: starts a program under a policy, prints its process id, and waits. */
const limits = { dataBytes: 1 << 30, openFiles: 64, fileBytes: 0 }
const { child, report } = launch(
  ['/bin/sleep', '600'],
  { execute: ['/bin/sleep'], limits },
  { output: 'ignore' },
)
await report
console.log(child.pid)
