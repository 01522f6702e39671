import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startMediaProcess } from '../../../test/fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

it('media refuses to start without its GStreamer plugins, naming the packages to install', async () => {
  const folder = createTemporaryFolder()
  const withoutPlugins = {
    GST_PLUGIN_SYSTEM_PATH_1_0: folder,
    GST_REGISTRY: join(folder, 'registry'),
  }
  await expect(startMediaProcess(withoutPlugins)).rejects.toThrow(
    /missing GStreamer elements .*h264parse.*apt-get install .*gstreamer1\.0-plugins-bad .*gstreamer1\.0-libav/,
  )
})
