/** The lines of a text as they come. */
export async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of chunksOf(body.pipeThrough(new TextDecoderStream()))) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line) yield line
  }
}

/** Not every browser iterates over streams. */
export async function* chunksOf<Chunk>(body: ReadableStream<Chunk>): AsyncGenerator<Chunk> {
  const reader = body.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel().catch(() => {})
  }
}
