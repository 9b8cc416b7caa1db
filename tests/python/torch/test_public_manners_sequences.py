"""Training scripts for texts, games and graphs, in the manners of public ones: with equal weights,
draws and data both libraries give the same losses over 20 steps."""

import copy
import io
import sys
from collections import deque
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_losses

STEPS = 20


def gpt(t, draws):
    nn, F = t.nn, t.nn.functional
    width, heads, length, words = 16, 2, 8, 11

    class CausalSelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_attn = nn.Linear(width, 3 * width, bias=False)
            self.c_proj = nn.Linear(width, width, bias=False)
            self.flash = hasattr(F, "scaled_dot_product_attention")

        def forward(self, x):
            B, T, C = x.size()
            q, k, v = self.c_attn(x).split(C, dim=2)
            q, k, v = (y.view(B, T, heads, C // heads).transpose(1, 2) for y in (q, k, v))
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=True)
            return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attn = CausalSelfAttention()
            self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "act": nn.GELU(),
                                      "c_proj": nn.Linear(4 * width, width)})  # fmt: skip

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            m = self.mlp
            return x + m.c_proj(m.act(m.c_fc(self.ln_2(x))))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = nn.ModuleDict({
                "wte": nn.Embedding(words, width), "wpe": nn.Embedding(length, width),
                "h": nn.ModuleList([Block() for _ in range(2)]), "ln_f": nn.LayerNorm(width),
            })  # fmt: skip
            self.lm_head = nn.Linear(width, words, bias=False)
            self.transformer.wte.weight = self.lm_head.weight
            self.apply(self._init_weights)

        def _init_weights(self, module):
            if isinstance(module, nn.Linear):
                t.nn.init.normal_(module.weight, mean=0.0, std=0.02)

        def forward(self, idx, targets=None):
            pos = t.arange(0, idx.size(1), dtype=t.long, device=idx.device)
            x = self.transformer.wte(idx) + self.transformer.wpe(pos)
            for block in self.transformer.h:
                x = t.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
            logits = self.lm_head(self.transformer.ln_f(x))
            if targets is None:
                return logits, None
            return logits, F.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )

        def configure_optimizers(self, weight_decay, learning_rate, betas):
            params = {n: p for n, p in self.named_parameters() if p.requires_grad}
            groups = [
                {"params": [p for p in params.values() if p.dim() >= 2],
                 "weight_decay": weight_decay},
                {"params": [p for p in params.values() if p.dim() < 2], "weight_decay": 0.0},
            ]  # fmt: skip
            return t.optim.AdamW(groups, lr=learning_rate, betas=betas)

    def begun():
        model = GPT()
        return model, model.configure_optimizers(0.1, 1e-2, (0.9, 0.95))

    model, optimizer = begun()
    draws.start(model)
    scaler = t.amp.GradScaler("cuda", enabled=False)
    losses, file = [], io.BytesIO()
    for step in range(STEPS):
        if step == 10:  # goes on from a checkpoint
            t.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "iter_num": step}, file)  # fmt: skip
            file.seek(0)
            checkpoint = t.load(file, map_location="cpu")
            model, optimizer = begun()
            model.load_state_dict(checkpoint["model"])
            optimizer.load_state_dict(checkpoint["optimizer"])
        lr = 1e-2 * min(1.0, (step + 1) / 5)
        for group in optimizer.param_groups:
            group["lr"] = lr
        data = draws.integers(words, 4, length + 1)
        with t.amp.autocast("cpu", enabled=False):
            _, loss = model(data[:, :-1].contiguous(), data[:, 1:].contiguous())
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        t.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
    with t.no_grad():
        idx = t.zeros((1, 1), dtype=t.long)
        for _ in range(6):
            logits = model(idx)[0][:, -1, :] / 0.8
            v, _ = t.topk(logits, 3)
            logits[logits < v[:, [-1]]] = -float("Inf")
            idx = t.cat((idx, F.softmax(logits, dim=-1).argmax(-1, keepdim=True)), dim=1)
    return losses + idx[0].tolist()


def words(t, draws):
    nn = t.nn

    class RNNModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.rnn = nn.Embedding(13, 8), nn.LSTM(8, 8, 2)
            self.decoder = nn.Linear(8, 13)
            self.decoder.weight = self.encoder.weight

        def forward(self, input, hidden):
            output, hidden = self.rnn(self.encoder(input), hidden)
            return nn.functional.log_softmax(self.decoder(output).view(-1, 13), dim=1), hidden

        def init_hidden(self, bsz):
            weight = next(self.parameters())
            return weight.new_zeros(2, bsz, 8), weight.new_zeros(2, bsz, 8)

    def repackage_hidden(h):
        return h.detach() if isinstance(h, t.Tensor) else tuple(repackage_hidden(v) for v in h)

    model = draws.start(RNNModel())
    corpus, losses = draws.integers(13, STEPS * 5 + 1, 3), []
    hidden, criterion = model.init_hidden(3), nn.NLLLoss()
    for i in range(0, STEPS * 5, 5):
        data, targets = corpus[i : i + 5], corpus[i + 1 : i + 6].view(-1)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        t.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-5.0)
        losses.append(loss.item())
    return losses


def dqn(t, draws):
    nn, rng = t.nn, np.random.default_rng(3)
    policy = draws.start(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)))
    target = copy.deepcopy(policy)
    target.load_state_dict(policy.state_dict())
    optimizer = t.optim.AdamW(policy.parameters(), lr=1e-2, amsgrad=True)
    memory, losses, state = deque(maxlen=50), [], rng.standard_normal(4).astype("float32")
    for _ in range(STEPS + 7):
        with t.no_grad():
            greedy = policy(t.from_numpy(state)[None]).max(1).indices.view(1, 1)
        action = greedy if rng.random() > 0.3 else t.tensor([[int(rng.integers(2))]])
        after = (state * 0.9 + rng.standard_normal(4) * (action.item() - 0.5)).astype("float32")
        reward, done = float(-np.abs(after).sum()), bool(rng.random() < 0.2)
        memory.append((state, action, reward, None if done else after))
        state = rng.standard_normal(4).astype("float32") if done else after
        if len(memory) < 8:
            continue
        batch = [memory[i] for i in rng.choice(len(memory), 8, replace=False)]
        final = t.tensor([s[3] is not None for s in batch], dtype=t.bool)
        following = t.stack([t.from_numpy(s[3]) for s in batch if s[3] is not None])
        values = policy(t.tensor(np.stack([s[0] for s in batch]))).gather(
            1, t.cat([s[1] for s in batch])
        )
        next_values = t.zeros(8)
        with t.no_grad():
            next_values[final] = target(following).max(1).values
        expected = next_values * 0.99 + t.tensor([s[2] for s in batch])
        loss = nn.SmoothL1Loss()(values, expected.unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        t.nn.utils.clip_grad_value_(policy.parameters(), 1.0)
        optimizer.step()
        weights, held = policy.state_dict(), target.state_dict()
        for key in weights:
            held[key] = weights[key] * 0.05 + held[key] * 0.95
        target.load_state_dict(held)
        losses.append(loss.item())
    return losses


def graph(t, draws):
    nn, F = t.nn, t.nn.functional

    class GCNConv(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.lin = nn.Linear(i, o, bias=False)
            self.bias = nn.Parameter(t.zeros(o))

        def forward(self, x, edge_index):
            n = x.size(0)
            loops = t.arange(n).unsqueeze(0).repeat(2, 1)
            row, col = t.cat([edge_index, loops], dim=1)
            deg = t.zeros(n).scatter_add_(0, col, t.ones(row.size(0)))
            norm = deg.pow(-0.5)
            norm[norm == float("inf")] = 0
            norm = norm[row] * norm[col]
            out = t.zeros(n, self.bias.numel())
            out = out.index_add(0, col, norm.view(-1, 1) * self.lin(x)[row])
            return out + self.bias

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = GCNConv(5, 8), GCNConv(8, 3)

        def forward(self, x, edges):
            return F.log_softmax(self.conv2(F.relu(self.conv1(x, edges)), edges), dim=1)

    model = draws.start(Net())
    optimizer = t.optim.Adam([
        {"params": model.conv1.parameters(), "weight_decay": 5e-4},
        {"params": model.conv2.parameters(), "weight_decay": 0},
    ], lr=0.01)  # fmt: skip
    x, edges, y = draws.normal(12, 5), draws.integers(12, 2, 30), draws.integers(3, 12)
    mask, losses = t.arange(12) < 8, []
    for _ in range(STEPS):
        model.train()
        optimizer.zero_grad()
        out = model(x, edges)
        loss = F.nll_loss(out[mask], y[mask])
        loss.backward()
        optimizer.step()
        model.eval()
        pred = model(x, edges).max(dim=1)[1]
        losses += [loss.item(), int(pred[~mask].eq(y[~mask]).sum()) / int((~mask).sum())]
    return losses


SCRIPTS = (gpt, words, dqn, graph)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_in_public_manners_learn_the_same(script):
    check_losses(script, STEPS)
