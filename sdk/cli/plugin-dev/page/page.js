// The page of `eyrie plugin dev`. It plays the live view, draws over each frame the objects that
// the element has returned for it, and lists what the element reports. It retries every connection
// until it succeeds.

const TICKS_PER_SECOND = 90_000
const MAX_FRAMES = 600
const MAX_ENTRIES = 500
const RETRY_MS = 1000
/** Colours of states in the list. */
const ENTRY_KINDS = { failed: 'error', degraded: 'warn' }
/** The live view jumps forward if it is further behind than this, in seconds. */
const MAX_DELAY = 2

const find = id => document.getElementById(id)
const video = find('video')
/** Objects of frames by their time in ticks, oldest first. */
const frames = new Map()

function connect(path, binaryType, onMessage) {
  const socket = new WebSocket(`${location.href.replace(/^http/, 'ws')}${path}`)
  socket.binaryType = binaryType
  socket.onmessage = ({ data }) => onMessage(data)
  return socket
}

// Messages of the element

const handlers = {
  plugin: ({ title, hasVideo }) => {
    find('title').textContent = title
    document.title = title
    find('missing').hidden = hasVideo
    if (hasVideo) playLive()
  },
  frame: ({ pts, data }) => {
    frames.set(pts, data)
    if (frames.size > MAX_FRAMES) frames.delete(frames.keys().next().value)
  },
  stats: ({ data }) => {
    find('fps').textContent = `${data.fps.toFixed(1)} fps, latency ${data.latency.toFixed(0)} ms`
  },
  state: ({ time, data, excerpt }) => {
    const { state, reason } = data
    const isProblem = reason !== undefined
    find('state').textContent = state
    find('state').className = state
    if (isProblem) showError(reason, excerpt)
    else hideError()
    addEntry(time, ENTRY_KINDS[state] ?? 'state', isProblem ? `${state}: ${reason}` : state)
  },
  event: ({ time, data: { type, ...fields } }) =>
    addEntry(time, 'event', `${type} ${formatFields(fields)}`),
  count: ({ data }) => showCounters(data),
  log: ({ time, level, text }) => addEntry(time, level, text),
  reload: ({ time, problem, ms, excerpt }) => {
    if (problem === undefined) {
      const text = `reloaded in ${ms} ms`
      find('reload').textContent = text
      hideError()
      addEntry(time, 'reload', text)
    } else {
      find('reload').textContent = 'not reloaded'
      showError(problem, excerpt)
      addEntry(time, 'error', problem)
    }
  },
}

function showError(reason, excerpt) {
  find('error').hidden = false
  find('reason').textContent = reason
  find('excerpt').replaceChildren(
    ...(excerpt?.lines ?? []).map(({ number, text }) => {
      const line = document.createElement('div')
      line.textContent = `${String(number).padStart(4)}  ${text}`
      line.className = number === excerpt.line ? 'here' : ''
      return line
    }),
  )
}

function hideError() {
  find('error').hidden = true
}

function showCounters(counters) {
  const rows = Object.entries(counters).flatMap(([name, values]) =>
    Object.entries(values).map(([key, value]) => {
      const row = document.createElement('tr')
      for (const text of [name, key, value]) row.insertCell().textContent = text
      return row
    }),
  )
  find('counters').firstElementChild.replaceChildren(...rows)
}

const formatFields = fields =>
  Object.entries(fields)
    .filter(([name]) => name !== 'picture' && name !== 'picture_offset')
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ')

function addEntry(time, kind, text) {
  const list = find('entries')
  const panel = list.parentElement
  const isAtEnd = panel.scrollTop + panel.clientHeight > panel.scrollHeight - 20
  const entry = document.createElement('li')
  const clock = document.createElement('time')
  clock.textContent = new Date(time).toTimeString().slice(0, 8)
  entry.className = kind
  entry.append(clock, text)
  list.append(entry)
  if (list.childElementCount > MAX_ENTRIES) list.firstElementChild.remove()
  if (isAtEnd) panel.scrollTop = panel.scrollHeight
}

function followMessages() {
  find('entries').replaceChildren()
  const socket = connect('messages', 'blob', data => {
    const message = JSON.parse(data)
    handlers[message.kind]?.(message)
  })
  socket.onclose = () => {
    find('state').textContent = 'eyrie plugin dev has ended'
    find('state').className = 'failed'
    setTimeout(followMessages, RETRY_MS)
  }
}

// The live view

let isPlaying = false

function playLive() {
  if (isPlaying) return
  isPlaying = true
  const media = new MediaSource()
  video.src = URL.createObjectURL(media)
  media.addEventListener('sourceopen', () => receiveVideo(media), { once: true })
}

function receiveVideo(media) {
  const queue = []
  let buffer
  // A buffer accepts one segment at a time. The event `updateend` follows when it is ready for the
  // next one.
  const append = () => {
    if (!buffer || buffer.updating || media.readyState !== 'open') return
    if (queue.length > 0) return buffer.appendBuffer(queue.shift())
    followLiveEdge()
  }
  // The first message is a text with the codecs, the others are segments of an MP4 stream.
  const socket = connect('live', 'arraybuffer', data => {
    if (typeof data === 'string') {
      buffer = media.addSourceBuffer(`video/mp4; codecs="${JSON.parse(data).codecs}"`)
      buffer.onupdateend = append
    } else {
      queue.push(data)
      append()
    }
  })
  socket.onclose = () => {
    isPlaying = false
    setTimeout(playLive, RETRY_MS)
  }
  video.onerror = () => socket.close()
}

function followLiveEdge() {
  const { buffered } = video
  if (buffered.length === 0) return
  const end = buffered.end(buffered.length - 1)
  if (end - video.currentTime > MAX_DELAY)
    video.currentTime = Math.max(end - MAX_DELAY / 2, buffered.start(0))
  if (video.paused) void video.play().catch(() => {})
}

// The objects, drawn over exactly the frame to which they belong

function drawFrame(_, { mediaTime, width, height }) {
  video.requestVideoFrameCallback(drawFrame)
  const overlay = find('overlay')
  const { clientWidth, clientHeight } = overlay
  overlay.width = clientWidth * devicePixelRatio
  overlay.height = clientHeight * devicePixelRatio
  const context = overlay.getContext('2d')
  context.scale(devicePixelRatio, devicePixelRatio)

  const data = findResult(mediaTime * TICKS_PER_SECOND)
  if (!data || width === 0 || height === 0) return
  const style = getComputedStyle(document.documentElement)
  context.strokeStyle = context.fillStyle = style.getPropertyValue('--box')
  context.lineWidth = 2
  context.font = '12px system-ui'
  for (const { class: name, score, track, bbox } of data.objects) {
    const x = bbox.x * clientWidth
    const y = bbox.y * clientHeight
    context.strokeRect(x, y, bbox.w * clientWidth, bbox.h * clientHeight)
    const label = track === undefined ? `${name} ${score.toFixed(2)}` : `${name} ${track}`
    context.fillText(label, x + 2, y - 4)
  }
}

/** Returns the result of the latest frame up to this time, if it is at most a second old. */
function findResult(ticks) {
  let found
  for (const [pts, data] of frames) {
    if (pts > ticks + 1) break
    if (pts > ticks - TICKS_PER_SECOND) found = data
  }
  return found
}

video.requestVideoFrameCallback(drawFrame)
followMessages()
