import { expect, it } from 'vitest'
import { compareVersions } from './compare-versions.ts'

it('orders versions by semantic version precedence', () => {
  const sorted = [
    '0.9.10',
    '1.0.0-1',
    '1.0.0-2',
    '1.0.0-10',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.2.0',
    '1.10.0',
    '9999999999999999999.0.0',
    '10000000000000000000.0.0',
  ]
  expect([...sorted].reverse().sort(compareVersions)).toEqual(sorted)
  expect(compareVersions('1.2.3-a', '1.2.3-a')).toBe(0)
})
