import { type FileHandle, open } from 'node:fs/promises'
import { resolveAllowedPath } from '@eyrie/kit'
import { createParsedSoundElements } from '../../sound/sound-elements.ts'
import type { Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'
import { chooseDemuxer, HEAD_BYTES } from './demuxer.ts'
import { probeFile } from './file-probe.ts'

/**
 * Opens a video file. The file is probed before playback, so that decoding is set up in time
 * for the first frame.
 */
export async function openFile(url: string, mediaRoots: readonly string[]): Promise<Origin> {
  const path = await resolveAllowedPath(url, mediaRoots).catch(error => {
    throw new SourceFault(error.message, { transient: false, cause: error })
  })
  const demuxer = chooseDemuxer(await readHead(path))
  return {
    name: path,
    elements: {
      h264: `filesrc name=origin ! ${demuxer} name=demux`,
      any: 'filesrc name=origin ! parsebin name=demux',
    },
    sound: createParsedSoundElements('demux'),
    configure: pipeline => pipeline.set('origin', 'location', path),
    picture: await probeFile(path),
    isLive: false,
    silenceMs: undefined,
    explainError: cause =>
      new SourceFault(`${path} cannot be played further: ${cause.message}`, {
        transient: false,
        cause,
      }),
  }
}

/** Returns the first bytes of a file. */
async function readHead(path: string): Promise<Uint8Array> {
  let file: FileHandle | undefined
  try {
    file = await open(path)
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    if (bytesRead > 0) return buffer.subarray(0, bytesRead)
  } catch (error) {
    throw createReadFault(path, error as NodeJS.ErrnoException)
  } finally {
    await file?.close()
  }
  throw new SourceFault(`${path} is empty: copy the video again`, { transient: false })
}

function createReadFault(path: string, cause: NodeJS.ErrnoException): SourceFault {
  const reasons: Record<string, string> = {
    ENOENT: 'does not exist: copy it there, or correct the address',
    EISDIR: 'is a folder: specify a video file in it',
    EACCES: 'is not readable: grant the service permission to read it',
  }
  const reason = reasons[cause.code ?? ''] ?? `cannot be read: ${cause.message}`
  return new SourceFault(`${path} ${reason}`, { transient: true, cause })
}
