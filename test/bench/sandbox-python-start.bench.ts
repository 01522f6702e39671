import type { Bench } from './bench.ts'
import { measureStarts, writePythonBenchPlugin } from './sandboxed-element.ts'

export const bench: Bench = {
  name: 'start of a sandboxed process in Python until its element is open',
  limit: { max: 150 },
  unit: ' ms',
  run: () => measureStarts(writePythonBenchPlugin()),
}
