import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatPathList, parsePathList } from './path-list.ts'

describe('path list', () => {
  it.each([
    ['/videos', ['/videos']],
    ['/videos:/more', ['/videos', '/more']],
    [':/videos::', ['/videos']],
    ['', []],
    ['/videos/12\\:30:/more', ['/videos/12:30', '/more']],
    ['/a\\b:/c\\\\:/d', ['/a\\b', '/c\\', '/d']],
  ])('parses %s as %o', (list, paths) => {
    expect(parsePathList(list)).toEqual(paths)
  })

  it('parses every formatted list back to the same paths', () => {
    const path = fc.string({ minLength: 1, unit: fc.constantFrom('/', ':', '\\', 'a', ' ') })
    fc.assert(
      fc.property(fc.array(path), paths => {
        expect(parsePathList(formatPathList(paths))).toEqual(paths)
      }),
    )
  })
})
