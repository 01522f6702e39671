import { describe, expect, it } from 'vitest'
import { isPinnedVersion, parseElementReference } from './element-reference.ts'

describe('reference to an element', () => {
  it('consists of a name and perhaps a version', () => {
    expect(parseElementReference('count')).toEqual({ name: 'count', pin: undefined })
    expect(parseElementReference('count@1.2')).toEqual({ name: 'count', pin: '1.2' })
    expect(parseElementReference('count@')).toEqual({ name: 'count', pin: '' })
  })

  it.each([
    ['1.2.3', '1.2.3', true],
    ['1.2.3', '1.2', true],
    ['1.2.3', '1', true],
    ['12.0.0', '1', false],
    ['1.20.0', '1.2', false],
    ['1.2.3', '1.2.', false],
    ['1.2.3', '', false],
    ['1.2.3', '01', false],
    ['1.2.3-beta.1', '1.2', false],
    ['1.2.3-beta.1', '1.2.3-beta.1', true],
  ])('%s is allowed by %s: %s', (version, pin, isAllowed) => {
    expect(isPinnedVersion(version, pin)).toBe(isAllowed)
  })
})
