import { describe, expect, it } from 'vitest'
import { createCodecSearch, type PacketCodec } from './packet-codec.ts'

/**
 * Requests one codec after the other, as for an origin that offers none. Returns the requested
 * codecs.
 */
function searchInVain(search: ReturnType<typeof createCodecSearch>): PacketCodec[] {
  const requested = [search.current]
  while (search.next()) requested.push(search.current)
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
    search.next()
    search.allowRejected()
    expect(searchInVain(search)).toEqual(['h265', 'h264', 'any'])
  })

  it('selects the codec that any has revealed, but not one that was requested in vain', () => {
    const search = createCodecSearch()
    while (search.current !== 'any') search.next()
    expect(search.select('h265')).toBe(false)
    search.allowRejected()
    expect(search.select('any')).toBe(false)
    expect(search.select('h265')).toBe(true)
    expect(search.current).toBe('h265')
  })
})
