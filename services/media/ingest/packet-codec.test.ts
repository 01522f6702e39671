import { describe, expect, it } from 'vitest'
import { createCodecSearch, type PacketCodec } from './packet-codec.ts'

/**
 * Requests one codec after the other, as for an origin that offers none. Returns the requested
 * codecs.
 */
function searchInVain(search: ReturnType<typeof createCodecSearch>): PacketCodec[] {
  const requested = [search.current]
  while (search.rejectCurrent()) requested.push(search.current)
  return requested
}

describe('search for the codec of an origin', () => {
  it('requests H.264, then H.265, then any codec, and then begins anew', () => {
    const search = createCodecSearch()
    expect(searchInVain(search)).toEqual(['h264', 'h265', 'any'])
    expect(searchInVain(search)).toEqual(['h264', 'h265', 'any'])
  })

  it('begins with the last codec after the connection was lost, and then requests all others', () => {
    const search = createCodecSearch()
    search.rejectCurrent()
    search.clearRejections()
    expect(searchInVain(search)).toEqual(['h265', 'h264', 'any'])
  })

  it('continues with the codec that any has revealed, unless it was rejected', () => {
    const search = createCodecSearch()
    while (search.current !== 'any') search.rejectCurrent()
    expect(search.switchTo('h265')).toBe(false)
    search.clearRejections()
    expect(search.switchTo('any')).toBe(false)
    expect(search.switchTo('h265')).toBe(true)
    expect(search.current).toBe('h265')
  })
})
