import type { Bench } from './bench.ts'
import { measurePictures, writePythonBenchPlugin } from './sandboxed-element.ts'

const size = 640

export const bench: Bench = {
  name: `frame with a picture of ${size}×${size} to a sandboxed element in Python and back`,
  limit: { max: 1 },
  unit: ' ms',
  run: () =>
    measurePictures(
      writePythonBenchPlugin(`View(format='RGB', width=${size}, height=${size})`),
      size,
    ),
}
