import { createIdentityModel } from '@eyrie/model-store/onnx/identity'
import { openSession, type Provider } from '@eyrie/model-store/session'
import { listSupportedBackends } from 'onnxruntime-node'

/**
 * Returns the execution providers of ONNX Runtime (CPU and CUDA) that work on this machine. Tests
 * CUDA with a small model, since its libraries or the GPU may be missing.
 */
export async function detectProviders(): Promise<Provider[]> {
  const isBuiltWithCuda = listSupportedBackends().some(({ name }) => name === 'cuda')
  const hasWorkingCuda = isBuiltWithCuda && (await canOpenSession('cuda'))
  return hasWorkingCuda ? ['cpu', 'cuda'] : ['cpu']
}

async function canOpenSession(provider: Provider): Promise<boolean> {
  try {
    const session = await openSession(createIdentityModel(), provider)
    await session.release()
    return true
  } catch {
    return false
  }
}
