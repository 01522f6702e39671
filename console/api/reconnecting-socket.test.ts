import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openReconnectingSocket } from './reconnecting-socket.ts'

class FakeWebSocket {
  static opened: FakeWebSocket[] = []
  readonly path: string
  closed = false
  onmessage?: (event: { data: string }) => void
  onclose?: (event: { reason: string }) => void

  constructor(path: string) {
    this.path = path
    FakeWebSocket.opened.push(this)
  }

  close() {
    this.closed = true
  }
}

const newest = () => FakeWebSocket.opened.at(-1)!
const MAX_DELAY_MS = 10_000

function open() {
  const messages: unknown[] = []
  const reasons: string[] = []
  let attempts = 0
  const socket = openReconnectingSocket({
    path: () => `/attempt/${++attempts}`,
    onMessage: data => messages.push(data),
    onDisconnect: reason => reasons.push(reason),
  })
  onTestFinished(socket.close)
  return { socket, messages, reasons }
}

describe('reconnecting socket', () => {
  beforeEach(() => {
    FakeWebSocket.opened = []
    vi.useFakeTimers()
    vi.stubGlobal('WebSocket', FakeWebSocket)
    onTestFinished(() => {
      vi.useRealTimers()
      vi.unstubAllGlobals()
    })
  })

  it('reconnects to a new path after the connection is lost', () => {
    const { messages, reasons } = open()
    newest().onclose!({ reason: '' })
    expect(reasons).toEqual(['connection lost'])
    vi.advanceTimersByTime(MAX_DELAY_MS)
    expect(newest().path).toBe('/attempt/2')
    newest().onmessage!({ data: 'text' })
    expect(messages).toEqual(['text'])
  })

  it('retries with back-off, which a stable connection resets', () => {
    open()
    for (let n = 0; n < 6; n++) {
      newest().onclose!({ reason: 'no' })
      vi.advanceTimersByTime(MAX_DELAY_MS)
    }
    newest().onclose!({ reason: 'no' })
    const { length } = FakeWebSocket.opened
    vi.advanceTimersByTime(MAX_DELAY_MS / 2 - 1)
    expect(FakeWebSocket.opened.length).toBe(length)
    vi.advanceTimersByTime(MAX_DELAY_MS)
    vi.advanceTimersByTime(MAX_DELAY_MS)
    newest().onclose!({ reason: 'no' })
    vi.advanceTimersByTime(500)
    expect(FakeWebSocket.opened.length).toBe(length + 2)
  })

  it('ignores messages of a connection that it has dropped', () => {
    const { socket, messages, reasons } = open()
    const dropped = newest()
    socket.reconnect('no video')
    dropped.onmessage!({ data: 'late' })
    dropped.onclose!({ reason: 'closed' })
    expect([dropped.closed, messages, reasons]).toEqual([true, [], ['no video']])
  })

  it('opens no connection after it is closed', () => {
    const { socket } = open()
    newest().onclose!({ reason: '' })
    socket.close()
    vi.advanceTimersByTime(MAX_DELAY_MS)
    expect(FakeWebSocket.opened.length).toBe(1)
  })
})
