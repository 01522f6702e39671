import type { RenderOptions } from './render.ts'

const BAR_WIDTH = 30

/** Reports to a terminal as a bar, to anything else as lines of JSON, one for each whole percent. */
export function progressReporter(
  stream: NodeJS.WriteStream,
): Pick<RenderOptions, 'onProgress' | 'onPublish'> {
  let last = -1
  return {
    onProgress(share) {
      const percent = Math.floor(share * 100)
      if (percent === last) return
      last = percent
      stream.write(stream.isTTY ? bar(share) : `${JSON.stringify({ progress: percent / 100 })}\n`)
    },
    onPublish(seconds) {
      if (!stream.isTTY) stream.write(`${JSON.stringify({ published_s: seconds })}\n`)
    },
  }
}

function bar(share: number): string {
  const full = Math.round(share * BAR_WIDTH)
  const percent = `${Math.floor(share * 100)}`.padStart(3)
  return `\rRendering the scene ${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${percent} %${share === 1 ? '\n' : ''}`
}
