import { type FileHandle, open } from 'node:fs/promises'
import { allowedPath } from '@eyrie/kit'
import { createParsedSoundElements } from '../../sound/sound-elements.ts'
import type { Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'
import { chooseDemuxer, HEAD_BYTES } from './demuxer.ts'
import { probeFile } from './file-probe.ts'

/** A video file. It is looked into before it is played, so that views are ready for its first frame. */
export async function openFile(url: string, mediaRoots: readonly string[]): Promise<Origin> {
  const path = await allowedPath(url, mediaRoots).catch(error => {
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
    live: false,
    silenceMs: undefined,
    fault: cause =>
      new SourceFault(`${path} cannot be played on: ${cause.message}`, { transient: false, cause }),
  }
}

async function readHead(path: string): Promise<Uint8Array> {
  let file: FileHandle | undefined
  try {
    file = await open(path)
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    if (bytesRead > 0) return buffer.subarray(0, bytesRead)
  } catch (error) {
    throw unreadable(path, error as NodeJS.ErrnoException)
  } finally {
    await file?.close()
  }
  throw new SourceFault(`${path} is empty: copy the video there again`, { transient: false })
}

function unreadable(path: string, cause: NodeJS.ErrnoException): SourceFault {
  const reasons: Record<string, string> = {
    ENOENT: 'does not exist: put it there, or correct the address',
    EISDIR: 'is a folder: name a video file in it',
    EACCES: 'may not be read: give the service permission to read it',
  }
  const reason = reasons[cause.code ?? ''] ?? `cannot be read: ${cause.message}`
  return new SourceFault(`${path} ${reason}`, { transient: true, cause })
}
