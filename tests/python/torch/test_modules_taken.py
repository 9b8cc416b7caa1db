"""Which modules a module takes, and the errors for the rest, beside PyTorch's."""

import pytest
import torch

import composit.torch as ours


@pytest.mark.parametrize("given", ["abc", 3, "class"])
def test_what_is_no_module_is_refused(given):
    messages = []
    for front in (torch, ours):
        what = front.nn.ReLU if given == "class" else given
        with pytest.raises(TypeError) as error:
            front.nn.Sequential(what)
        messages.append(str(error.value).partition(" [")[0])
    theirs = messages[0].replace("torch.nn.modules.activation.", "composit.torch.nn.")
    assert messages[1] == theirs


@pytest.mark.parametrize("name", [3, "a.b", "", "training"])
def test_names_are_checked(name):
    messages = []
    for front in (torch, ours):
        with pytest.raises((TypeError, KeyError)) as error:
            front.nn.Module().add_module(name, front.nn.ReLU())
        messages.append((error.type, str(error.value).partition(" [")[0]))
    assert messages[0] == messages[1]


def test_none_holds_a_place():
    assert str(ours.nn.Sequential(None)) == str(torch.nn.Sequential(None))
