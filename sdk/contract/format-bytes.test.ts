import { expect, it } from 'vitest'
import { formatBytes } from './format-bytes.ts'

it.each([
  [0, '0.0 MB'],
  [35_192_832, '35.2 MB'],
  [999_949_999, '999.9 MB'],
  [999_950_000, '1.0 GB'],
  [1 << 30, '1.1 GB'],
  [4e12, '4000.0 GB'],
])('formatBytes shows %i bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})
