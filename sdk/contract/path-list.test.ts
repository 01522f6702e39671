import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatPathList, parsePathList } from './path-list.ts'

test.each([
  ['/videos', ['/videos']],
  ['/videos:/more', ['/videos', '/more']],
  [':/videos::', ['/videos']],
  ['', []],
  ['/videos/12\\:30:/more', ['/videos/12:30', '/more']],
  ['/a\\b:/c\\\\:/d', ['/a\\b', '/c\\', '/d']],
])('%s lists the folders %o', (list, folders) => {
  expect(parsePathList(list)).toEqual(folders)
})

test('folders come out as they went in, whatever their names', () => {
  const name = fc.string({ minLength: 1, unit: fc.constantFrom('/', ':', '\\', 'a', ' ') })
  fc.assert(
    fc.property(fc.array(name), folders => {
      expect(parsePathList(formatPathList(folders))).toEqual(folders)
    }),
  )
})
