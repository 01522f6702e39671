import { describe, expect, it } from 'vitest'
import { assertIfMatch } from './if-match.ts'

describe('If-Match', () => {
  it.each([undefined, '*', '"b"', '"a", "b"', 'W/"b"'])('%s matches the tag "b"', ifMatch => {
    expect(() => assertIfMatch(ifMatch, '"b"')).not.toThrow()
  })

  it.each(['', 'b', '"a"', 'W/"a"', '"W/b"'])('%s does not match the tag "b"', ifMatch => {
    expect(() => assertIfMatch(ifMatch, '"b"')).toThrow('its ETag is now "b": read it again')
  })
})
