import type { Bench } from './bench.ts'
import { measureObjects, writePythonBenchPlugin } from './sandboxed-element.ts'

export const bench: Bench = {
  name: 'frame without a picture to a sandboxed element in Python and back',
  limit: { max: 0.3 },
  unit: ' ms',
  run: () => measureObjects(writePythonBenchPlugin()),
}
