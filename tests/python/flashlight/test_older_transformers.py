"""Models of the last release of transformers before its fifth give, traced, what torch gives: they
ask other questions while they run. `make setup` installs that release in a folder of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OLDER = Path(sys.prefix, "older")
FOLDERS = [str(OLDER), str(Path(__file__).resolve().parents[3] / "tools")]
PROGRAM = """
import json, sys
import flashlight_models as models, transformers
found = {"version": transformers.__version__}
for name in sys.argv[1:]:
    try:
        found[name] = models.difference(models.CASES[name])[0]
    except NotImplementedError as refusal:
        found[name] = str(refusal)
print(json.dumps(found))
"""
# Models of packages that need the newest release, or none.
ELSEWHERE = {
    "LSTM language model", "ConvNet", "nn.Transformer", "Stable Diffusion's U-Net",
    "U-Net of images", "Stable Diffusion's VAE",
}  # fmt: skip
# There, its experts loop over those that some token chose, which values decide.
REFUSED = {"Mixtral": "aten.nonzero.default: this needs the values of a traced tensor"}


def differences(names):
    if not OLDER.is_dir():
        pytest.fail(f"{OLDER} is not there. `make setup` installs it.")
    path = os.pathsep.join([*FOLDERS, *filter(None, [os.environ.get("PYTHONPATH")])])
    run = subprocess.run([sys.executable, "-c", PROGRAM, *names], check=False, text=True,
                         capture_output=True, env={**os.environ, "PYTHONPATH": path})  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert found.pop("version").startswith("4.57.")
    return found


def check(names):
    for name, difference in differences(names).items():
        if name in REFUSED:
            assert REFUSED[name] in difference
        else:
            assert isinstance(difference, float) and difference < 1e-4, (name, difference)


def test_models_of_an_older_release():
    check(["BERT", "DistilBERT", "GPT-2", "Llama", "Mixtral", "T5", "ViT", "CLIP", "Whisper"])


@pytest.mark.long_tail
def test_all_models_of_an_older_release():
    import flashlight_models as models

    check([name for name in models.CASES if name not in ELSEWHERE])
