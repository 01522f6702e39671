import { createIdentityModel } from '@eyrie/model-store/onnx/identity'
import { openSession, type Provider } from '@eyrie/model-store/session'
import { listSupportedBackends } from 'onnxruntime-node'

/** Detects execution providers by running a model: a listed provider may lack its libraries or its device. */
export async function detectProviders(): Promise<Provider[]> {
  const isListed = listSupportedBackends().some(({ name }) => name === 'cuda')
  return isListed && (await canOpenSession('cuda')) ? ['cpu', 'cuda'] : ['cpu']
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
