import { z } from 'zod'

/** A moving picture that the media service generates: `test://ball?width=320&height=180&fps=10`. */
export interface TestPicture {
  /** A pattern of GStreamer's videotestsrc, such as smpte, ball or snow. */
  pattern: string
  /** In pixels. */
  width: number
  height: number
  /** Frames per second. */
  fps: number
}

// Even, because H.264 stores colours at half the size.
const size = z.coerce.number().int().min(16).max(4096).multipleOf(2)

const parameters = z.strictObject({
  width: size.default(1280),
  height: size.default(720),
  fps: z.coerce.number().int().min(1).max(60).default(25),
})

/** Parses the address of a test picture. Returns undefined if it is invalid. */
export function parseTestPicture(url: string): TestPicture | undefined {
  const [, pattern, query] = /^test:\/\/([a-z0-9-]*)(?:\?(.*))?$/.exec(url) ?? []
  if (pattern === undefined) return undefined
  const pairs = [...new URLSearchParams(query)]
  const parsed = parameters.safeParse(Object.fromEntries(pairs))
  return parsed.success ? { pattern: pattern || 'smpte', ...parsed.data } : undefined
}
