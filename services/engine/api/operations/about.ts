import { hostname } from 'node:os'
import type { About } from '@eyrie/contract'
import type { ApiContext } from './api-context.ts'

export function aboutEngine({ version, runtime }: Pick<ApiContext, 'version' | 'runtime'>): About {
  return {
    name: 'Eyrie',
    version,
    api_versions: ['v1', 'v2', 'v3'],
    node: process.version,
    gstreamer: runtime.streamServer()?.gstreamer ?? 'unknown: media is not connected',
    hostname: hostname(),
  }
}
