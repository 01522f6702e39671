import { describe, expect, it } from 'vitest'
import { readApplianceEnvironment } from './appliance-environment.ts'

describe('the license of the appliance', () => {
  it.each([
    [undefined, 'community'],
    ['', 'community'],
    ['none', 'none'],
  ])('EYRIE_LICENSE=%s means %s', (license, expected) => {
    expect(readApplianceEnvironment({ EYRIE_LICENSE: license }).license).toBe(expected)
  })
})
